import type { Migration } from "./migration.ts";

/** The id of the Redis server that each gateway uses. A starting gateway compares it with that of its own server. */
export const redisIds: Migration = {
  name: "0019-redis-ids",
  oldestVersion: 1,
  sql: "ALTER TABLE gateways ADD COLUMN redis_id text",
};
