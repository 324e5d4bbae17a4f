import type { Operations } from "../../api/schema.ts";

/** A key with the amount spent with it. */
export type KeyDetails = Operations["GET /api/admin/keys/{id}"]["response"]["data"];
