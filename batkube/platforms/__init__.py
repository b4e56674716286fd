"""Clusters as people have them: lists of machines in several forms, which become a platform of SimGrid's."""
