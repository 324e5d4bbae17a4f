{{- define "gateway.fullname" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 52 | trimSuffix "-" }}
{{- else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "gateway.selectorLabels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "gateway.labels" -}}
{{ include "gateway.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "gateway.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}{{ default (include "gateway.fullname" .) .Values.serviceAccount.name }}
{{- else }}{{ default "default" .Values.serviceAccount.name }}{{ end }}
{{- end }}

{{- define "gateway.image" -}}
{{- with .Values.image }}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ default $.Chart.AppVersion .tag }}{{ end }}
{{- end }}
{{- end }}

{{/* The URL of the database in the config, which need not be in a secret. */}}
{{- define "gateway.configDatabase" -}}
{{- (.Values.config.database | default dict).url | default "" }}
{{- end }}

{{/* Fails with the reason for values that no gateway could start with, or that would lose data. */}}
{{- define "gateway.validate" -}}
{{- $v := .Values }}
{{- $hasDatabase := or $v.database.url $v.database.existingSecret (include "gateway.configDatabase" .) }}
{{- if and (gt (int $v.replicaCount) 1) (not $hasDatabase) }}
{{- fail "replicaCount is more than 1, and several gateways need PostgreSQL: only one process can write to SQLite. Set database.existingSecret or database.url, or replicaCount: 1." }}
{{- end }}
{{- if and (gt (int $v.replicaCount) 1) (not $v.existingSecret) }}
{{- fail "replicaCount is more than 1, and all gateways of a database need the same master key. Set existingSecret to a secret with GATEWAY_SECRETS_KEY." }}
{{- end }}
{{- if and (or $v.redis.url $v.redis.existingSecret) (not $hasDatabase) }}
{{- fail "redis is set without a database: Redis holds what several gateways share, and several gateways need PostgreSQL. Set database, or remove redis." }}
{{- end }}
{{- range $name := list "database" "redis" }}
{{- $store := get $v $name }}
{{- if and $store.url $store.existingSecret }}
{{- fail (printf "%s.url and %s.existingSecret are both set. Remove one." $name $name) }}
{{- end }}
{{- end }}
{{- if hasKey ($v.config.server | default dict) "port" }}
{{- fail "config.server.port is set, but probes and services need port 8080 of the container. Set service.port for the port of the service." }}
{{- end }}
{{- end }}

{{/* Seconds from the preStop hook to SIGKILL: the sleep, the time to notice the drain, the time for running requests, and ten. */}}
{{- define "gateway.graceSeconds" -}}
{{- $server := .Values.config.server | default dict }}
{{- $drain := add (int64 (default 5000 $server.drain_notice_ms)) (int64 (default 30000 $server.drain_ms)) }}
{{- add (div (add $drain 999) 1000) 10 .Values.preStopSleepSeconds }}
{{- end }}

{{/* The variable of a store, from the secret that has its URL. */}}
{{- define "gateway.storeEnv" -}}
{{- if or .values.url .values.existingSecret -}}
- name: {{ .variable }}
  valueFrom:
    secretKeyRef:
      {{- if .values.existingSecret }}
      name: {{ .values.existingSecret }}
      key: {{ .values.existingSecretKey }}
      {{- else }}
      name: {{ include "gateway.fullname" .root }}
      key: {{ .variable }}
      {{- end }}
{{- end }}
{{- end }}
