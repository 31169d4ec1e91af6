"""Hard and soft debiasing, with an account of what was done to which words."""
