import { tryParseFields } from "../../base/json/fields.ts";

/** The user and the session that `metadata.user_id` names. */
interface UserIdParts {
  readonly user: string;
  readonly session: string | null;
}

/**
 * Splits `metadata.user_id`. Claude Code puts its session there: as `user_<device>_account_<id>_session_<id>`, or as JSON with
 * `device_id`, `account_uuid` and `session_id`. Other values are the user.
 */
export function splitUserId(userId: string): UserIdParts {
  const plain = { user: userId, session: null };
  // Longer values are not parsed.
  if (userId.length > MAX_CHARS) return plain;
  if (userId.startsWith("{")) return splitJson(userId) ?? plain;
  const [, user, session] = JOINED.exec(userId) ?? [];
  return user === undefined || session === undefined ? plain : { user, session };
}

const MAX_CHARS = 1_024;
const JOINED = /^(user_.*)_session_([\w-]+)$/;

function splitJson(userId: string): UserIdParts | null {
  const fields = tryParseFields(userId);
  const session = textOf(fields?.["session_id"]);
  const user = [fields?.["device_id"], fields?.["account_uuid"]].flatMap((id) => textOf(id) ?? []).join("/");
  return session === null || user === "" ? null : { user, session };
}

function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}
