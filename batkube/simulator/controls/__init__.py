"""The ideal and the exact control: when actors go on, and what a message between Batsim's parts takes."""
