/** The roles in an organization. Of several that rules give to one person, the first counts. */
export const ROLES = ["owner", "admin", "billing", "auditor", "member"] as const;
export type Role = (typeof ROLES)[number];

/**
 * The rights in an account:
 *
 * - `own`: read what one has made oneself: requests, usage, keys, sessions
 * - `call`: send requests from the playground
 * - `own_keys`: make and end inference keys of one's own, within what the organization allows
 * - `read`: read the whole account: balance, usage, requests, keys, people, budgets, policy
 * - `inspect`: read the audit log, stored bodies and provider keys, and try policies
 * - `manage`: change the account: name, policy, budgets, provider keys, named routes
 * - `manage_keys`: make, change and end the keys of others, and those of the organization
 * - `manage_people`: members, teams and invitations
 * - `manage_owners`: owners, the end of the account, and management keys of others
 */
export const RIGHTS = [
  "own",
  "call",
  "own_keys",
  "read",
  "inspect",
  "manage",
  "manage_keys",
  "manage_people",
  "manage_owners",
] as const;
export type Right = (typeof RIGHTS)[number];

/** The rights of each role. A user in their own account, a service key and the operator have those of an owner. */
const RIGHTS_OF: Readonly<Record<Role, ReadonlySet<Right>>> = {
  owner: new Set(RIGHTS),
  admin: new Set(RIGHTS.filter((right) => right !== "manage_owners")),
  billing: new Set(["own", "call", "read"]),
  auditor: new Set(["own", "read", "inspect"]),
  member: new Set(["own", "call", "own_keys"]),
};

/** Returns whether a role has a right. */
export function roleHas(role: Role, right: Right): boolean {
  return RIGHTS_OF[role].has(right);
}

/** Returns the roles with a right. */
export function rolesWith(right: Right): readonly Role[] {
  return ROLES.filter((role) => roleHas(role, right));
}

/** Returns the right that giving, changing and taking a role needs. */
export function rightOver(role: Role): Right {
  return role === "owner" ? "manage_owners" : "manage_people";
}
