"""Cases by kind: ``cases()`` gives those that are recorded, ``random_case(seed)`` any number of others."""
