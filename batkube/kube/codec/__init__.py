"""The way from bytes to objects, and from stored versions to the bytes of answers and watch events."""
