"""What is judged: rubrics, their scales and anchors, and the library of one service."""
