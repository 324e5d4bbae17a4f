import { ENDPOINTS } from "../routes/endpoints.ts";
import { endpointOperation } from "./endpoint-operation.ts";
import { INFERENCE_OPERATIONS } from "./inference-operations.ts";
import { LIST_OPERATIONS, SERVICE_OPERATIONS } from "./list-operations.ts";
import type { Operation } from "./operation.ts";

/** Every documented operation. Endpoints describe themselves; other routes are described in this folder. */
export const OPERATIONS: readonly Operation[] = [
  ...INFERENCE_OPERATIONS,
  ...LIST_OPERATIONS,
  ...ENDPOINTS.map(endpointOperation),
  ...SERVICE_OPERATIONS,
];
