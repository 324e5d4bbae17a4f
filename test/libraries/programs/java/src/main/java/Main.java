import com.anthropic.client.AnthropicClient;
import com.anthropic.client.okhttp.AnthropicOkHttpClient;
import com.anthropic.errors.AnthropicServiceException;
import com.anthropic.helpers.MessageAccumulator;
import com.anthropic.models.messages.Message;
import com.anthropic.models.messages.MessageCreateParams;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.core.ObjectMappers;
import com.openai.errors.OpenAIServiceException;
import com.openai.helpers.ChatCompletionAccumulator;
import com.openai.models.chat.completions.ChatCompletion;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.embeddings.EmbeddingCreateParams;
import com.openai.models.responses.Response;
import com.openai.models.responses.ResponseCreateParams;
import java.io.File;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Sends every case with the libraries, which validate, and prints what they read: one line of JSON for each case. */
public final class Main {
  private static final JsonMapper JSON = ObjectMappers.jsonMapper();
  private static OpenAIClient openai;
  private static AnthropicClient anthropic;

  public static void main(String[] args) throws Exception {
    JsonNode site = JSON.readTree(new File(args[0]));
    String url = site.get("url").asText();
    String key = site.get("key").asText();
    openai = OpenAIOkHttpClient.builder().baseUrl(url + "/v1").apiKey(key).maxRetries(0).responseValidation(true).build();
    anthropic = AnthropicOkHttpClient.builder().baseUrl(url).apiKey(key).maxRetries(0).responseValidation(true).build();
    for (JsonNode one : site.get("cases")) {
      Object result;
      try {
        result = send(one.get("api").asText(), one.get("body"), one.get("stream").asBoolean());
      } catch (OpenAIServiceException error) {
        result = Map.of("status", error.statusCode());
      } catch (AnthropicServiceException error) {
        result = Map.of("status", error.statusCode());
      } catch (Exception error) {
        StringWriter trace = new StringWriter();
        error.printStackTrace(new PrintWriter(trace));
        result = Map.of("problem", trace.toString());
      }
      System.out.println(JSON.writeValueAsString(Map.of("name", one.get("name").asText(), "result", result)));
    }
    System.exit(0);
  }

  private static Object send(String api, JsonNode body, boolean stream) throws Exception {
    switch (api) {
      case "chat":
        return readChat(chat(JSON.treeToValue(body, ChatCompletionCreateParams.Body.class), stream));
      case "responses":
        return readResponse(response(JSON.treeToValue(body, ResponseCreateParams.Body.class), stream));
      case "messages":
        return readMessage(message(JSON.treeToValue(body, MessageCreateParams.Body.class), stream));
      case "embeddings":
        var embeddings = openai.embeddings()
            .create(EmbeddingCreateParams.builder().body(JSON.treeToValue(body, EmbeddingCreateParams.Body.class)).build());
        return Map.of("lengths", embeddings.data().stream().map(item -> item.embedding().size()).toList());
      default:
        return Map.of("ids", count(openai.models().list().autoPager()));
    }
  }

  private static int count(Iterable<?> items) {
    int count = 0;
    for (Object item : items) count++;
    return count;
  }

  private static ChatCompletion chat(ChatCompletionCreateParams.Body body, boolean stream) {
    var params = ChatCompletionCreateParams.builder().body(body).build();
    if (!stream) return openai.chat().completions().create(params);
    var joined = ChatCompletionAccumulator.create();
    try (var events = openai.chat().completions().createStreaming(params)) {
      events.stream().forEach(event -> joined.accumulate(event.validate()));
    }
    return joined.chatCompletion();
  }

  private static Response response(ResponseCreateParams.Body body, boolean stream) {
    var params = ResponseCreateParams.builder().body(body).build();
    if (!stream) return openai.responses().create(params);
    List<Response> last = new ArrayList<>();
    try (var events = openai.responses().createStreaming(params)) {
      events.stream().forEach(event -> event.validate().completed().ifPresent(end -> last.add(end.response())));
    }
    return last.get(0);
  }

  private static Message message(MessageCreateParams.Body body, boolean stream) {
    var params = MessageCreateParams.builder().body(body).build();
    if (!stream) return anthropic.messages().create(params);
    var joined = MessageAccumulator.create();
    try (var events = anthropic.messages().createStreaming(params)) {
      events.stream().forEach(event -> joined.accumulate(event.validate()));
    }
    return joined.message();
  }

  private static Object reading(String text, List<List<String>> calls, String finish) {
    return Map.of("text", text, "calls", calls, "finish", finish);
  }

  private static Object readChat(ChatCompletion answer) {
    var choice = answer.choices().get(0);
    List<List<String>> calls = new ArrayList<>();
    choice.message().toolCalls().orElse(List.of()).forEach(call -> {
      var function = call.asFunction().function();
      calls.add(List.of(function.name(), function.arguments()));
    });
    return reading(choice.message().content().orElse(""), calls, choice.finishReason().asString());
  }

  private static Object readResponse(Response answer) {
    StringBuilder text = new StringBuilder();
    List<List<String>> calls = new ArrayList<>();
    for (var item : answer.output()) {
      item.functionCall().ifPresent(call -> calls.add(List.of(call.name(), call.arguments())));
      item.message().ifPresent(said -> said.content()
          .forEach(part -> part.outputText().ifPresent(output -> text.append(output.text()))));
    }
    return reading(text.toString(), calls, answer.status().orElseThrow().asString());
  }

  private static Object readMessage(Message answer) throws Exception {
    StringBuilder text = new StringBuilder();
    List<List<String>> calls = new ArrayList<>();
    for (var block : answer.content()) {
      block.text().ifPresent(part -> text.append(part.text()));
      if (block.isToolUse()) calls.add(List.of(block.asToolUse().name(), JSON.writeValueAsString(block.asToolUse()._input())));
    }
    return reading(text.toString(), calls, answer.stopReason().orElseThrow().asString());
  }
}
