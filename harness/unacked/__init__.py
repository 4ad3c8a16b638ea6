"""unacked: what does your agent do next when its write goes unacknowledged?"""

__version__ = "0.1.0"
