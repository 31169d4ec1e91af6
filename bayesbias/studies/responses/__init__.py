"""Answers of classifiers and language models: any groups, words, prompts, items and models, crossed."""
