"""Testing other people's orchestrators: plans, probes, and checks that believe the probes only."""
