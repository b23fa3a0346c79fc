// The conformance suite can't bring a token: this passes its requests on with ours. An Origin that names
// this proxy names the server afterwards; everything else (Host, sessions, streams) goes through untouched.
// node authorized.mjs SERVER_PORT TOKEN_FILE; prints the port that it listens on.
import fs from 'node:fs';
import http from 'node:http';

const [port, file] = process.argv.slice(2);
const authorization = `Bearer ${fs.readFileSync(file, 'utf8').trim()}`;
const proxy = http.createServer((request, response) => {
  const headers = { ...request.headers, authorization };
  if (headers.origin) headers.origin = headers.origin.replace(`:${proxy.address().port}`, `:${port}`);
  const options = { host: '127.0.0.1', port, path: request.url, method: request.method, headers };
  const onward = http.request(options, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  onward.on('error', (error) => response.destroy(error));
  response.on('close', () => onward.destroy());
  request.pipe(onward);
});
proxy.listen(0, '127.0.0.1', () => console.log(proxy.address().port));
