import { answered, asked, type RequestCase } from "./request-case.ts";

export const IMAGE = "TUFSS0VSaW1hZ2U=";
/** A generated image in the form that chat clients and Messages clients send. */
export const CHAT_IMAGE = { type: "image_url", image_url: { url: `data:image/png;base64,${IMAGE}` } };
export const MESSAGES_IMAGE = {
  type: "image",
  source: { type: "base64", media_type: "image/png", data: IMAGE },
};
const IMAGE_URL = "https://example.com/MARKER.png";
const PDF = "JVBERi1NQVJLRVI=";
const PDF_URL = "https://example.com/MARKER.pdf";
const AUDIO = "TUFSS0VSYXVkaW8=";
const VIDEO = "TUFSS0VSdmlkZW8=";
const TEXT = "MARKER-document";

/** Images, files, audio and video. */
export const MEDIA: readonly RequestCase[] = [
  {
    name: "image by base64",
    bodies: asked({
      chat: [{ type: "image_url", image_url: { url: `data:image/png;base64,${IMAGE}` } }],
      responses: [{ type: "input_image", detail: "auto", image_url: `data:image/png;base64,${IMAGE}` }],
      messages: [{ type: "image", source: { type: "base64", media_type: "image/png", data: IMAGE } }],
    }),
    kept: {
      "openai-chat": { "messages[0].content[].image_url.url": `data:image/png;base64,${IMAGE}` },
      "openai-responses": { "input[0].content[].image_url": `data:image/png;base64,${IMAGE}` },
      "anthropic-messages": {
        "messages[0].content[].source": { type: "base64", media_type: "image/png", data: IMAGE },
      },
      gemini: { "contents[0].parts[].inlineData": { mimeType: "image/png", data: IMAGE } },
      "bedrock-converse": {
        "messages[0].content[].image": { format: "png", source: { bytes: IMAGE } },
      },
      "cohere-chat": { "messages[0].content[].image_url.url": `data:image/png;base64,${IMAGE}` },
    },
    field: /messages\[0\]\.content/,
  },
  {
    name: "generated image in an earlier turn",
    bodies: answered({
      chat: { content: "Look:", images: [CHAT_IMAGE] },
      responses: [
        { type: "message", role: "assistant", content: [{ type: "output_text", text: "Look:" }] },
        { type: "image_generation_call", id: "ig_1", status: "completed", result: IMAGE },
      ],
      messages: [{ type: "text", text: "Look:" }, MESSAGES_IMAGE],
    }),
    kept: {
      "openai-chat": [
        { "messages[1].images[]": CHAT_IMAGE },
        { "messages[2]": { role: "user" }, "messages[2].content[].image_url.url": CHAT_IMAGE.image_url.url },
      ],
      "openai-responses": { "input[]": { type: "image_generation_call", result: IMAGE } },
      "anthropic-messages": { "messages[2].content[].source.data": IMAGE, "messages[2].role": "user" },
      gemini: { "contents[1].parts[].inlineData": { mimeType: "image/png", data: IMAGE } },
      "bedrock-converse": { "messages[2].content[].image.source.bytes": IMAGE },
      "cohere-chat": { "messages[2].content[].image_url.url": CHAT_IMAGE.image_url.url },
    },
    field: /messages\[1\]/,
  },
  {
    name: "image by URL",
    bodies: asked({
      chat: [{ type: "image_url", image_url: { url: IMAGE_URL } }],
      responses: [{ type: "input_image", detail: "auto", image_url: IMAGE_URL }],
      messages: [{ type: "image", source: { type: "url", url: IMAGE_URL } }],
    }),
    kept: {
      "openai-chat": { "messages[0].content[].image_url.url": IMAGE_URL },
      "openai-responses": { "input[0].content[].image_url": IMAGE_URL },
      "anthropic-messages": { "messages[0].content[].source": { type: "url", url: IMAGE_URL } },
      gemini: { "contents[0].parts[].fileData.fileUri": IMAGE_URL },
      "cohere-chat": { "messages[0].content[].image_url.url": IMAGE_URL },
    },
    field: /messages\[0\]\.content/,
  },
  {
    name: "image detail",
    bodies: asked({
      chat: [{ type: "image_url", image_url: { url: `data:image/png;base64,${IMAGE}`, detail: "low" } }],
      responses: [{ type: "input_image", detail: "low", image_url: `data:image/png;base64,${IMAGE}` }],
    }),
    kept: {
      "openai-chat": { "messages[0].content[].image_url.detail": "low" },
      "openai-responses": { "input[0].content[].detail": "low" },
      "cohere-chat": { "messages[0].content[].image_url.detail": "low" },
    },
    field: /detail/,
  },
  {
    name: "PDF by base64",
    bodies: asked({
      chat: [
        { type: "file", file: { filename: "MARKER.pdf", file_data: `data:application/pdf;base64,${PDF}` } },
      ],
      responses: [
        { type: "input_file", filename: "MARKER.pdf", file_data: `data:application/pdf;base64,${PDF}` },
      ],
      messages: [
        {
          type: "document",
          title: "MARKER.pdf",
          source: { type: "base64", media_type: "application/pdf", data: PDF },
        },
      ],
    }),
    kept: {
      "openai-chat": {
        "messages[0].content[].file": {
          filename: "MARKER.pdf",
          file_data: `data:application/pdf;base64,${PDF}`,
        },
      },
      "openai-responses": {
        "input[0].content[]": {
          filename: "MARKER.pdf",
          file_data: `data:application/pdf;base64,${PDF}`,
        },
      },
      "anthropic-messages": {
        "messages[0].content[]": {
          title: "MARKER.pdf",
          source: { media_type: "application/pdf", data: PDF },
        },
      },
      gemini: { "contents[0].parts[].inlineData": { mimeType: "application/pdf", data: PDF } },
      "bedrock-converse": {
        "messages[0].content[].document": { format: "pdf", name: "MARKER pdf", source: { bytes: PDF } },
      },
    },
    field: /messages\[0\]\.content/,
  },
  {
    name: "file name",
    bodies: asked({
      chat: [
        { type: "file", file: { filename: "MARKER.pdf", file_data: `data:application/pdf;base64,${PDF}` } },
      ],
      messages: [
        {
          type: "document",
          title: "MARKER.pdf",
          source: { type: "base64", media_type: "application/pdf", data: PDF },
        },
      ],
    }),
    kept: {
      "openai-chat": { "messages[0].content[].file.filename": "MARKER.pdf" },
      "openai-responses": { "input[0].content[].filename": "MARKER.pdf" },
      "anthropic-messages": { "messages[0].content[].title": "MARKER.pdf" },
      // Names may only have letters, digits and spaces.
      "bedrock-converse": { "messages[0].content[].document.name": "MARKER pdf" },
    },
    field: /messages\[0\]\.content/,
  },
  {
    name: "PDF by URL",
    bodies: asked({
      responses: [{ type: "input_file", file_url: PDF_URL }],
      messages: [{ type: "document", source: { type: "url", url: PDF_URL } }],
    }),
    kept: {
      "openai-chat": { "messages[0].content[].file.file_data": PDF_URL },
      "openai-responses": { "input[0].content[].file_url": PDF_URL },
      "anthropic-messages": { "messages[0].content[].source": { type: "url", url: PDF_URL } },
      gemini: { "contents[0].parts[].fileData": { mimeType: "application/pdf", fileUri: PDF_URL } },
    },
    field: /messages\[0\]\.content/,
  },
  {
    name: "text document",
    bodies: asked({
      messages: [
        {
          type: "document",
          title: "MARKER-title",
          source: { type: "text", media_type: "text/plain", data: TEXT },
        },
      ],
    }),
    kept: {
      "openai-chat": { "messages[0].content[].text": /^MARKER-title[\s\S]*MARKER-document$/ },
      "openai-responses": { "input[0].content[].text": /^MARKER-title[\s\S]*MARKER-document$/ },
      "anthropic-messages": {
        "messages[0].content[]": { title: "MARKER-title", source: { type: "text", data: TEXT } },
      },
      gemini: { "contents[0].parts[].text": /^MARKER-title[\s\S]*MARKER-document$/ },
      "bedrock-converse": {
        "messages[0].content[].document": { name: "MARKER-title", source: { text: TEXT } },
      },
      "cohere-chat": { "messages[0].content[].text": /^MARKER-title[\s\S]*MARKER-document$/ },
    },
    field: /messages\[0\]\.content/,
  },
  {
    name: "text file by base64",
    bodies: asked({
      chat: [
        {
          type: "file",
          file: { filename: "MARKER.txt", file_data: `data:text/plain;base64,${btoa(TEXT)}` },
        },
      ],
      responses: [
        {
          type: "input_file",
          filename: "MARKER.txt",
          file_data: `data:text/plain;base64,${btoa(TEXT)}`,
        },
      ],
    }),
    kept: {
      "openai-chat": { "messages[0].content[].file.file_data": `data:text/plain;base64,${btoa(TEXT)}` },
      "openai-responses": { "input[0].content[].file_data": `data:text/plain;base64,${btoa(TEXT)}` },
      "anthropic-messages": {
        "messages[0].content[]": { title: "MARKER.txt", source: { type: "text", data: TEXT } },
      },
      gemini: { "contents[0].parts[].inlineData": { mimeType: "text/plain", data: btoa(TEXT) } },
      "bedrock-converse": {
        "messages[0].content[].document": { format: "txt", source: { bytes: btoa(TEXT) } },
      },
      "cohere-chat": { "messages[0].content[].text": /MARKER-document/ },
    },
    field: /messages\[0\]\.content/,
  },
  {
    name: "uploaded file",
    bodies: asked({
      chat: [{ type: "file", file: { file_id: "file-MARKER" } }],
      responses: [{ type: "input_file", file_id: "file-MARKER" }],
      messages: [{ type: "document", source: { type: "file", file_id: "file-MARKER" } }],
    }),
    kept: {
      "openai-chat": { "messages[0].content[].file.file_id": "file-MARKER" },
      "openai-responses": { "input[0].content[].file_id": "file-MARKER" },
      "anthropic-messages": { "messages[0].content[].source.file_id": "file-MARKER" },
    },
    field: /messages\[0\]\.content/,
  },
  {
    name: "audio",
    bodies: asked({
      chat: [{ type: "input_audio", input_audio: { data: AUDIO, format: "mp3" } }],
      responses: [{ type: "input_audio", input_audio: { data: AUDIO, format: "mp3" } }],
    }),
    kept: {
      "openai-chat": { "messages[0].content[].input_audio": { data: AUDIO, format: "mp3" } },
      "openai-responses": { "input[0].content[].input_audio": { data: AUDIO, format: "mp3" } },
      gemini: { "contents[0].parts[].inlineData": { mimeType: "audio/mpeg", data: AUDIO } },
      "bedrock-converse": {
        "messages[0].content[].audio": { format: "mp3", source: { bytes: AUDIO } },
      },
    },
    field: /messages\[0\]\.content/,
  },
  {
    name: "video",
    bodies: asked({
      chat: [{ type: "video_url", video_url: { url: `data:video/mp4;base64,${VIDEO}` } }],
    }),
    kept: {
      "openai-chat": { "messages[0].content[].video_url.url": `data:video/mp4;base64,${VIDEO}` },
      gemini: { "contents[0].parts[].inlineData": { mimeType: "video/mp4", data: VIDEO } },
      "bedrock-converse": {
        "messages[0].content[].video": { format: "mp4", source: { bytes: VIDEO } },
      },
    },
    field: /messages\[0\]\.content/,
  },
];
