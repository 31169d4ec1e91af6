"""What is said of results, in sentences made from their draws."""
