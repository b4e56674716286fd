"""Reading clusters in the forms that people have."""
