"""What annotation tools hold, read and written: a file per format, and one value in which all meet, `Export`."""
