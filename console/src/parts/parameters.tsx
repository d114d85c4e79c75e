/** A form for the parameters of an endpoint, drawn from their JSON Schema. What is left empty is not sent. */
import { Autocomplete, JsonInput, MultiSelect, Select, Stack, TextInput } from '@mantine/core';
import { formatTime, inWords } from '../format.ts';
import type { Job } from '../job.ts';

export interface ParameterSchema {
  type?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: ParameterSchema[];
  items?: ParameterSchema;
  default?: unknown;
  description?: string;
  minimum?: number;
  maximum?: number;
  properties?: Record<string, ParameterSchema>;
  required?: string[];
  examples?: Record<string, unknown>[];
}

/** As typed: the texts of the fields, and what is chosen. */
export type Typed = Readonly<Record<string, string | readonly string[]>>;

interface FormProps {
  schema: ParameterSchema;
  values: Typed;
  /** The parameter that the service refused, with its words. */
  problem: { param: string; message: string } | null;
  /** To choose from, where a parameter names one. */
  jobs: readonly Job[];
  onChange: (values: Typed) => void;
}

export function ParameterForm({ schema, values, problem, jobs, onChange }: FormProps) {
  return (
    <Stack gap="sm">
      {Object.entries(schema.properties ?? {}).map(([name, field]) => (
        <Field
          key={name}
          name={name}
          schema={field}
          isRequired={schema.required?.includes(name) ?? false}
          value={values[name]}
          jobs={jobs}
          error={problem !== null && problem.param.split(/[.[]/)[0] === name ? problem.message : undefined}
          onChange={(value) => {
            const { [name]: _, ...others } = values;
            onChange(value === undefined || value === '' ? others : { ...others, [name]: value });
          }}
        />
      ))}
    </Stack>
  );
}

interface FieldProps {
  name: string;
  schema: ParameterSchema;
  isRequired: boolean;
  value: Typed[string] | undefined;
  jobs: readonly Job[];
  error: string | undefined;
  onChange: (value: Typed[string] | undefined) => void;
}

function Field({ name, schema: given, isRequired, value, jobs, error, onChange }: FieldProps) {
  const schema = simplified(given);
  const shared = {
    label: inWords(name),
    description: given.description === undefined ? undefined : <Prose text={given.description} />,
    withAsterisk: isRequired,
    error,
    placeholder: given.default === undefined ? '' : `default: ${JSON.stringify(given.default)}`,
  };
  const choices = choicesOf(schema);
  if (choices) {
    const text = typeof value === 'string' ? value : null;
    return (
      <Select
        {...shared}
        data={choices}
        value={text}
        onChange={(chosen) => onChange(chosen ?? undefined)}
        clearable
        searchable={choices.length > 8}
      />
    );
  }
  const items = schema.type === 'array' && schema.items ? choicesOf(simplified(schema.items)) : null;
  if (items) {
    return (
      <MultiSelect
        {...shared}
        placeholder={Array.isArray(value) && value.length > 0 ? '' : shared.placeholder}
        data={items}
        value={Array.isArray(value) ? [...value] : []}
        onChange={(chosen) => onChange(chosen.length > 0 ? chosen : undefined)}
        clearable
        searchable
      />
    );
  }
  const text = typeof value === 'string' ? value : '';
  if (schema.type === 'number' || schema.type === 'integer') {
    return (
      <TextInput
        {...shared}
        type="number"
        step={schema.type === 'integer' ? 1 : 'any'}
        min={schema.minimum}
        max={schema.maximum}
        value={text}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
    );
  }
  if (namesJob(name)) {
    // The description says of which endpoints.
    const fitting = jobs.filter(({ endpoint }) => given.description?.includes(`\`${endpoint}\``));
    return (
      <Autocomplete
        {...shared}
        placeholder="job_…"
        data={fitting.map(({ id }) => id)}
        renderOption={({ option: { value: id } }) => {
          const job = fitting.find((one) => one.id === id);
          return `${job?.endpoint}, ${formatTime(job?.created ?? null)}, ${id}`;
        }}
        value={text}
        onChange={onChange}
      />
    );
  }
  if (schema.type === 'string') {
    return <TextInput {...shared} value={text} onChange={({ currentTarget }) => onChange(currentTarget.value)} />;
  }
  return (
    <JsonInput
      {...shared}
      className="mono-input"
      value={text}
      onChange={onChange}
      validationError="This is not JSON."
      formatOnBlur
      autosize
      minRows={2}
      maxRows={12}
    />
  );
}

/** Names in backticks as code. */
function Prose({ text }: { text: string }) {
  return text.split('`').map((part, index) => {
    const key = `${index} ${part}`;
    return index % 2 === 1 ? <code key={key}>{part}</code> : <span key={key}>{part}</span>;
  });
}

/** Whether the parameter takes the id of an earlier job. */
export const namesJob = (parameter: string) => /(?:^|_)job_id$/.test(parameter);

/** A field that may also be null is asked for without the null. */
function simplified(schema: ParameterSchema): ParameterSchema {
  const others = schema.anyOf?.filter(({ type }) => type !== 'null');
  return others?.length === 1 && others[0] ? others[0] : schema;
}

/** As texts; null for a field that is no choice. */
function choicesOf({ type, enum: values, anyOf }: ParameterSchema): string[] | null {
  if (type === 'boolean') return ['true', 'false'];
  if (values) return values.map(String);
  if (anyOf && anyOf.length > 0 && anyOf.every((one) => one.const !== undefined))
    return anyOf.map((one) => String(one.const));
  return null;
}

/** The parameters to send. @throws SyntaxError for a field whose JSON is none */
export function parametersOf(schema: ParameterSchema, values: Typed): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => {
      const field = schema.properties?.[name];
      return field ? [[name, typedValue(simplified(field), value)]] : [];
    }),
  );
}

function typedValue(schema: ParameterSchema, value: Typed[string]): unknown {
  if (schema.type === 'boolean') return value === 'true';
  if (typeof value !== 'string') return value;
  if (schema.type === 'number' || schema.type === 'integer') return Number(value);
  const choices = schema.enum ?? schema.anyOf?.map((one) => one.const);
  const choice = choices?.find((one) => String(one) === value);
  if (choice !== undefined) return choice;
  return schema.type === 'string' ? value : (JSON.parse(value) as unknown);
}

/** What the example of the schema says of the fields without which there is no request. The job that it names is nobody's. */
export function requiredExample({ required = [], properties = {}, examples }: ParameterSchema): Typed {
  const example = examples?.[0] ?? {};
  return Object.fromEntries(
    required.flatMap((name) => {
      const value = example[name];
      const schema = properties[name];
      if (value === undefined || !schema || namesJob(name)) return [];
      const isText = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
      return [[name, isText ? String(value) : JSON.stringify(value, null, 2)] as const];
    }),
  );
}
