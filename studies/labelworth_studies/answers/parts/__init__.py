"""What studies of answers share."""
