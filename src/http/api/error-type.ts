import { z } from "zod";
import { ERROR_STATUS, type ErrorCode } from "../../base/failures/errors.ts";

const CODES = Object.keys(ERROR_STATUS) as [ErrorCode, ...ErrorCode[]];

/** The error types of the API. */
export const ErrorType = z.enum(CODES).meta({ id: "ErrorType", description: "Type of the error." });
