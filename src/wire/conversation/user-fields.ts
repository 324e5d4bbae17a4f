/** Fields of OpenAI's formats that name the client's user. */
export const USER_FIELDS: ReadonlySet<string> = new Set(["user", "safety_identifier"]);
