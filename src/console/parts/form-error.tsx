import type { ApiError } from "../api/client.ts";
import { ErrorBox } from "./states.tsx";

/** The error of a form that is about none of its fields. */
export function FormError({ error }: { error: ApiError | null }) {
  return error === null ? null : <ErrorBox error={error} />;
}
