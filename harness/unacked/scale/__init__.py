"""Runs beyond one machine: a plan in shards, each a run folder of its own, put together again as one run.

shard       which trials belong to which shard; running one, putting all together
attend      one shard in a process of its own, with a sign of life now and then
temporal    Temporal as the queue of shards; imported by its name, for it needs an extra
"""

from unacked.scale.attend import attended
from unacked.scale.shard import Order, ShardResult, ShardState, gathered, run_shard

__all__ = ["Order", "ShardResult", "ShardState", "attended", "gathered", "run_shard"]
