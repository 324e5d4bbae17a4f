"""Decodes exports in OTLP's JSON encoding with OpenTelemetry's own messages, and fails on fields and values that they do not have.

Reads lines {"path": ..., "body": ...} from standard input and prints what it has decoded as JSON.
"""

import base64
import json
import sys

from google.protobuf import json_format
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2
from opentelemetry.proto.metrics.v1 import metrics_pb2
from opentelemetry.proto.trace.v1 import trace_pb2

REQUESTS = {
    "/v1/traces": trace_service_pb2.ExportTraceServiceRequest,
    "/v1/metrics": metrics_service_pb2.ExportMetricsServiceRequest,
}


def with_base64_ids(value):
    """OTLP writes ids as hex, where the JSON of protocol buffers has base64."""
    if isinstance(value, list):
        return [with_base64_ids(item) for item in value]
    if not isinstance(value, dict):
        return value
    ids = ("traceId", "spanId", "parentSpanId")
    return {
        name: base64.b64encode(bytes.fromhex(item)).decode() if name in ids else with_base64_ids(item)
        for name, item in value.items()
    }


def attributes_of(message):
    values = {}
    for attribute in message.attributes:
        kind = attribute.value.WhichOneof("value")
        value = getattr(attribute.value, kind)
        values[attribute.key] = str(value) if kind == "array_value" else value
    return values


def decode_span(span):
    return {
        "traceId": span.trace_id.hex(),
        "spanId": span.span_id.hex(),
        "parentSpanId": span.parent_span_id.hex(),
        "name": span.name,
        "kind": trace_pb2.Span.SpanKind.Name(span.kind),
        "nanoseconds": span.end_time_unix_nano - span.start_time_unix_nano,
        "attributes": attributes_of(span),
    }


def decode_metric(metric):
    kind = metric.WhichOneof("data")
    data = getattr(metric, kind)
    result = {"name": metric.name, "kind": kind, "points": len(data.data_points)}
    if kind != "gauge":
        result["temporality"] = metrics_pb2.AggregationTemporality.Name(data.aggregation_temporality)
    if kind == "histogram":
        # One bucket more than bounds, which together have every value.
        result["isComplete"] = all(
            len(point.bucket_counts) == len(point.explicit_bounds) + 1 and sum(point.bucket_counts) == point.count
            for point in data.data_points
        )
    return result


def main():
    decoded = {"services": [], "spans": [], "metrics": []}
    for line in sys.stdin:
        export = json.loads(line)
        body = with_base64_ids(json.loads(export["body"]))
        request = json_format.ParseDict(body, REQUESTS[export["path"]]())
        for resource in getattr(request, "resource_spans", []):
            decoded["services"].append(attributes_of(resource.resource)["service.name"])
            decoded["spans"] += [decode_span(span) for scope in resource.scope_spans for span in scope.spans]
        for resource in getattr(request, "resource_metrics", []):
            decoded["services"].append(attributes_of(resource.resource)["service.name"])
            decoded["metrics"] += [decode_metric(one) for scope in resource.scope_metrics for one in scope.metrics]
    json.dump(decoded, sys.stdout)


main()
