"""The exchange with a decision process: the first message, decisions read and refused, both sides of a reply."""
