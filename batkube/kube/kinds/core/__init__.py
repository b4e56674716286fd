"""The core group, without pods."""
