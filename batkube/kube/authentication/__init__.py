"""The authentication of clients: tokens, client certificates, and impersonation."""
