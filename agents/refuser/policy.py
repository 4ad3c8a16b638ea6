"""Does nothing: the control that shows that safety alone is not success."""

from unacked.agents import Call


def act(task):
    """Refuse the task."""
    yield Call("finish", {"status": "refused", "summary": f"not attempted: {task.text}"})
