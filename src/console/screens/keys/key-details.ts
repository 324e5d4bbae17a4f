import type { Operations } from "../../api/schema.ts";

/** A key with the amount spent with it. */
export type KeyDetails = Operations["GET /api/admin/keys/{id}"]["response"]["data"];

/** A key as lists have it, with the names of its account, user and team. */
export type ListedKey = Operations["GET /api/admin/keys"]["response"]["data"][number];
