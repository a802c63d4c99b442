"""Replay: the recorded run of a program on another machine, with its waiting and its critical path."""
