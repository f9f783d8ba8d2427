"""A connection told as a transcript: its timeline as data, and that as text, Markdown, HTML, JSON.

Two passes, so that nothing is held that is not needed. ``gathering`` follows the
fold message by message and keeps a mark, some bytes long, for each thing that is
worth an entry, at its place. ``timeline`` then goes through the marks, makes one
entry after the other from the final state and from the messages themselves, and
blanks secrets in it; ``shapes`` says what a person is shown of an entry, and a
module for each format writes it. Pure.
"""
