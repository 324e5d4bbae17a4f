/** The code of the screens for looking at requests and models. */
export { default as Compare } from "./models/compare.tsx";
export { default as Model } from "./models/model.tsx";
export { default as Models } from "./models/models.tsx";
export { default as Request } from "./request/request.tsx";
export { default as Requests } from "./requests/requests.tsx";
export { default as Response } from "./responses/response.tsx";
export { default as Responses } from "./responses/responses.tsx";
