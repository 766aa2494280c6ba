-- The smallest durable thing: one row changed, one commit.
UPDATE bench.one SET number = number + 1;
