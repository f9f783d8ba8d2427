"""Tests of the room that blanks secrets."""
