"""What error means: functions of the number of samples and the labeled fraction."""
