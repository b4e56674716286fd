"""The embedded stand-in for Batsim: the same messages in and out, in process, with exact dates."""
