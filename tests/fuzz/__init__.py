"""Requests at random, right ones and wrong ones: whatever is asked, the API answers, and keeps its store in order."""
