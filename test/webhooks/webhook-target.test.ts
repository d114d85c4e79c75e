import { describe, expect, it } from 'vitest';
import { DeliveryError } from '../../src/webhooks/delivery-error.ts';
import type { ResolveHost } from '../../src/webhooks/resolve-host.ts';
import { checkWebhookUrl } from '../../src/webhooks/webhook-target.ts';

const PUBLIC = ['93.184.215.14', '2606:4700:4700::1111'];

async function verdict(
  url: string,
  {
    resolveHost = async () => PUBLIC,
    allowPrivateTargets = false,
  }: {
    resolveHost?: ResolveHost;
    allowPrivateTargets?: boolean;
  } = {},
) {
  try {
    return (await checkWebhookUrl(url, { allowPrivateTargets, resolveHost })).addresses;
  } catch (error) {
    if (error instanceof DeliveryError) return error.code;
    throw error;
  }
}

describe('a webhook URL', () => {
  it('a webhook URL over https is accepted, with its addresses, when all of them are public', async () => {
    expect(await verdict('https://hooks.example.com/a?b=c')).toEqual(PUBLIC);
    expect(await verdict('https://hooks.example.com:8443/')).toEqual(PUBLIC);
    expect(await verdict('https://1.1.1.1/')).toEqual(['1.1.1.1']);
    expect(await verdict('https://[2606:4700:4700::1111]/')).toEqual(['2606:4700:4700::1111']);
  });

  it('a webhook URL is resolved once, under the name of the connection', async () => {
    const asked: string[] = [];
    const resolveHost = async (hostname: string) => {
      asked.push(hostname);
      return PUBLIC;
    };
    await verdict('https://BÜCHER.example/', { resolveHost });
    expect(asked).toEqual(['xn--bcher-kva.example']);
  });

  it.each([
    '',
    'hooks.example.com',
    '/a',
    'https://',
    'https://a b/',
    'https://[::1',
    'https://256.1.1.1/',
    'https://hooks.example/a\nb',
    'https://hooks.example/a\r\n',
    ' https://hooks.example/',
    'https://hooks\t.example/',
    'https://hooks.example/\u0001',
    'https://hooks.example/\u0085',
  ])('the webhook URL %j is url_malformed', async (url) => {
    expect(await verdict(url)).toBe('url_malformed');
  });

  it.each(['http://hooks.example.com/', 'ftp://hooks.example.com/', 'file:///etc/passwd', 'javascript:alert(1)'])(
    'the webhook URL %s is url_not_https',
    async (url) => {
      expect(await verdict(url)).toBe('url_not_https');
    },
  );

  it.each(['https://user:password@hooks.example.com/', 'https://user@hooks.example.com/', 'https://:x@example.com/'])(
    'the webhook URL %s is url_has_credentials',
    async (url) => {
      expect(await verdict(url)).toBe('url_has_credentials');
    },
  );

  it('a webhook URL is host_not_found when the name has no address or the DNS fails', async () => {
    const failing = () => Promise.reject(new Error('ENOTFOUND'));
    expect(await verdict('https://nobody.example/', { resolveHost: failing })).toBe('host_not_found');
    expect(await verdict('https://nobody.example/', { resolveHost: async () => [] })).toBe('host_not_found');
  });

  it.each([
    'https://127.0.0.1/',
    'https://127.1/',
    'https://2130706433/',
    'https://0x7f000001/',
    'https://0x7f.0.0.1/',
    'https://0177.0.0.1/',
    'https://017700000001/',
    'https://127.0.0.1./',
    'https://１２７.0.0.1/',
    'https://%31%32%37.0.0.1/',
    'https://0/',
    'https://10.0.0.1/',
    'https://169.254.169.254/latest/meta-data/',
    'https://0xa9fea9fe/',
    'https://[::1]/',
    'https://[::]/',
    'https://[0:0:0:0:0:ffff:127.0.0.1]/',
    'https://[::ffff:a9fe:a9fe]/',
    'https://[64:ff9b::a9fe:a9fe]/',
    'https://[64:ff9b:1::1]/',
    'https://[2002:7f00:1::]/',
    'https://[fd00:ec2::254]/',
  ])('the webhook URL %s is address_not_public, and nothing is looked up', async (url) => {
    const resolveHost = () => Promise.reject(new Error('looked up'));
    expect(await verdict(url, { resolveHost })).toBe('address_not_public');
  });

  it('a webhook URL is address_not_public when one of many addresses is private', async () => {
    for (const inside of ['127.0.0.1', '10.1.2.3', '::ffff:10.1.2.3', 'fe80::1']) {
      const resolveHost = async () => [...PUBLIC, inside];
      expect(await verdict('https://hooks.example.com/', { resolveHost })).toBe('address_not_public');
    }
  });
});

describe('a webhook URL in development', () => {
  const development = { allowPrivateTargets: true, resolveHost: async () => ['127.0.0.1'] };

  it('a webhook URL in development may use http and private addresses', async () => {
    expect(await verdict('http://localhost:9000/', development)).toEqual(['127.0.0.1']);
    expect(await verdict('https://[::1]:9000/', development)).toEqual(['::1']);
  });

  it('a webhook URL in development is still refused with credentials or another protocol', async () => {
    expect(await verdict('http://user@localhost/', development)).toBe('url_has_credentials');
    expect(await verdict('ftp://localhost/', development)).toBe('url_not_http');
  });
});
