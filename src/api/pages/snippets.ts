/**
 * A call to an endpoint, to copy: with curl, TypeScript and Python. The key comes from the environment. The console and the
 * documentation show the same programs.
 */
export interface Call {
  slug: string;
  path: string;
  origin: string;
  /** Name of the multipart part. */
  field: string;
  /** Whether the endpoint takes several files. */
  takesSeveral: boolean;
  /** Whether it takes its file as an upload only. */
  isUploaded: boolean;
  fileNames: readonly string[];
  parameters: Readonly<Record<string, unknown>>;
  scenario: string | null;
  wait: boolean;
}

const SCENARIO_HEADER = 'X-Service-Test-Scenario';
const KEY_HEADER = `-H "Authorization: Bearer $API_KEY"`;
const SEPARATOR = ' \\\n  ';

export const snippetsOf = (call: Call) => ({
  curl: curlOf(call),
  TypeScript: typeScriptOf(call),
  Python: pythonOf(call),
});

function curlOf({ origin, path, field, isUploaded, fileNames, parameters, scenario, wait }: Call): string {
  const lines = [
    `curl -sS '${origin}${path}${wait ? '?wait=true' : ''}'`,
    KEY_HEADER,
    ...(scenario === null ? [] : [`-H '${SCENARIO_HEADER}: ${scenario}'`]),
  ];
  const [first] = fileNames;
  if (isUploaded && first !== undefined) {
    const upload = [`curl -sS '${origin}/v1/uploads'`, KEY_HEADER, `-F ${quoted(`file=@${first}`)}`].join(SEPARATOR);
    const body = quoted(JSON.stringify({ ...parameters, input_ref: '$UPLOAD' })).replace('$UPLOAD', `'"$UPLOAD"'`);
    lines.push("-H 'Content-Type: application/json'", `-d ${body}`);
    return `UPLOAD=$(${upload} | grep -o 'upl_[0-9A-Za-z]*' | head -1)\n${lines.join(SEPARATOR)}`;
  }
  if (fileNames.length === 0) {
    lines.push("-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(parameters))}`);
  } else {
    for (const name of fileNames) lines.push(`-F ${quoted(`${field}=@${name}`)}`);
    for (const [name, value] of Object.entries(parameters)) {
      for (const text of textsOf(value)) lines.push(`--form-string ${quoted(`${name}=${text}`)}`);
    }
  }
  return lines.join(SEPARATOR);
}

/** As the clients encode parameters beside files: lists of texts as repeated parts, anything but text as JSON. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
  return [JSON.stringify(value)];
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

function typeScriptOf(call: Call): string {
  const { slug, origin, field, takesSeveral, isUploaded, fileNames, parameters, scenario } = call;
  const files = fileNames.map((name) => `new Uint8Array(readFileSync(${JSON.stringify(name)}))`);
  const isSent = files.length > 0 && !isUploaded;
  const upload = isUploaded && files.length > 0 ? `const upload = await client.upload(${files[0]});\n` : '';
  const fields = [
    ...(isSent ? [`  ${field}: ${takesSeveral ? `[${files.join(', ')}]` : files[0]},`] : []),
    ...(upload === '' ? [] : ['  input_ref: upload.id,']),
    ...Object.entries(parameters).map(([name, value]) => `  ${name}: ${JSON.stringify(value)},`),
  ];
  const input = fields.length === 0 ? '{}' : `{\n${fields.join('\n')}\n}`;
  return `${files.length === 0 ? '' : "import { readFileSync } from 'node:fs';\n"}import { VehicleInferenceClient } from 'vehicle-inference-client';

const client = new VehicleInferenceClient({ apiKey: process.env.API_KEY ?? '', baseUrl: '${origin}' });
${upload}const job = await client.run('${slug}', ${input}${scenario === null ? '' : `, { testScenario: '${scenario}' }`});
console.log(job.result);
`;
}

function pythonOf(call: Call): string {
  const { slug, origin, field, takesSeveral, isUploaded, fileNames, parameters, scenario } = call;
  const name = slug
    .split(/[._]/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
  const files = fileNames.map((file) => JSON.stringify(file));
  const isSent = files.length > 0 && !isUploaded;
  const upload = isUploaded && files.length > 0 ? `upload = client.upload(${files[0]})\n` : '';
  const fields = [
    ...(isSent ? [`${field}=${takesSeveral ? `[${files.join(', ')}]` : files[0]}`] : []),
    ...(upload === '' ? [] : ['input_ref=upload.id']),
    ...Object.entries(parameters).map(([parameter, value]) => `${parameter}=${pythonValue(value)}`),
  ];
  return `import os

from vehicle_inference import Client, ${name}

client = Client(api_key=os.environ["API_KEY"], base_url="${origin}")
${upload}job = client.run(${name}(${fields.join(', ')})${scenario === null ? '' : `, test_scenario="${scenario}"`})
print(job.result)
`;
}

function pythonValue(value: unknown): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${value.map(pythonValue).join(', ')}]`;
  if (typeof value === 'object') {
    return `{${Object.entries(value)
      .map(([name, item]) => `${JSON.stringify(name)}: ${pythonValue(item)}`)
      .join(', ')}}`;
  }
  return JSON.stringify(value);
}
