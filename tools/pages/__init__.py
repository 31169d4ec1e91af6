"""The pages of the site that are made of something else: of the face, of the commands, of notebooks."""
