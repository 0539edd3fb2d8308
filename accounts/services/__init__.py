"""What can be done with people and standing; the verbs. Other apps write accounts through these modules only."""
