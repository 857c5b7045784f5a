"""What one slice of the NPU does with its configuration: from register words to results in LRAM."""
