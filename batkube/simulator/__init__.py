"""The built-in simulator, which plays Batsim's part: the same messages in and out, in process, with exact dates."""
