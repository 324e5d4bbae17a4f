import { call } from "../../api/client.ts";
import type { Operations, User } from "../../api/schema.ts";

/** The fields of a user or an organization that the screen shows. Only users have an e-mail, only organizations a monthly limit. */
export type AccountFields = Omit<User, "email"> & {
  readonly email?: string | null;
  readonly monthly_limit?: number | null;
};

/** A change of a user or an organization. Absent fields keep their value. */
export type AccountChange = Operations["PATCH /api/admin/organizations/{id}"]["body"] &
  Operations["PATCH /api/admin/users/{id}"]["body"];

/** Changes a user or an organization. */
export async function changeAccount(id: string, change: AccountChange): Promise<AccountFields> {
  const name = id.startsWith("org_") ? "PATCH /api/admin/organizations/{id}" : "PATCH /api/admin/users/{id}";
  return (await call(name, { params: { id }, body: change })).data;
}
