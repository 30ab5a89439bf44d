"""What every test may rely on."""
