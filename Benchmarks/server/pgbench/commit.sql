-- The smallest durable change: one row in one commit.
UPDATE bench.one SET number = number + 1;
