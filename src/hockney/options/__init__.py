"""The models of verbs' options, by the room that works with them; none of them loads numpy."""
