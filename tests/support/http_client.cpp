#include "support/http_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <stdexcept>

namespace heed {
namespace {

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

Received parse_head(const std::string& head) {
  Received received;
  received.status = std::stoi(head.substr(head.find(' ') + 1));
  for (std::size_t begin = head.find("\r\n") + 2; begin + 2 < head.size();) {
    const std::size_t end = head.find("\r\n", begin);
    const std::size_t colon = head.find(':', begin);
    received.headers[lower_case(head.substr(begin, colon - begin))] =
        head.substr(colon + 2, end - colon - 2);
    begin = end + 2;
  }
  return received;
}

}  // namespace

HttpClient::HttpClient(std::uint16_t port, const char* host)
    : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  ::inet_pton(AF_INET, host, &address.sin_addr);
  if (::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
    ::close(socket_);
    throw std::runtime_error("no connection to the server");
  }
  // A server that neither answers nor closes fails the test in place of holding it up.
  const timeval patience{.tv_sec = 20, .tv_usec = 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
}

HttpClient::~HttpClient() { close(); }

void HttpClient::close() {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
}

void HttpClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;  // the server has heard enough
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

bool HttpClient::receive_more() {
  char block[4096];
  const ssize_t received = ::recv(socket_, block, sizeof(block), 0);
  if (received < 0 && errno == EAGAIN) throw std::runtime_error("the server says nothing");
  if (received <= 0) return false;
  waiting_.append(block, static_cast<std::size_t>(received));
  return true;
}

std::string HttpClient::receive_until(std::string_view mark) {
  std::size_t found;
  while ((found = waiting_.find(mark)) == std::string::npos && receive_more()) {
  }
  const std::size_t end = found == std::string::npos ? waiting_.size() : found + mark.size();
  std::string text = waiting_.substr(0, end);
  waiting_.erase(0, end);
  return text;
}

Received HttpClient::receive() {
  const std::string head = receive_until("\r\n\r\n");
  if (head.empty()) return {};
  Received received = parse_head(head);
  const auto length = received.headers.find("content-length");
  const std::size_t size =
      length == received.headers.end() ? std::string::npos : std::stoul(length->second);
  while (waiting_.size() < size && receive_more()) {
  }
  received.body = waiting_.substr(0, size);
  waiting_.erase(0, received.body.size());
  return received;
}

bool HttpClient::is_closed_by_server() { return waiting_.empty() && !receive_more(); }

std::string text_of(const Sent& sent, std::uint16_t port) {
  std::map<std::string, std::string> headers = sent.headers;
  headers.emplace("Host", "127.0.0.1:" + std::to_string(port));
  if (!sent.body.empty()) headers.emplace("Content-Length", std::to_string(sent.body.size()));
  std::string text = sent.method + ' ' + sent.target + " HTTP/1.1\r\n";
  for (const auto& [name, value] : headers) text += name + ": " + value + "\r\n";
  return text + "\r\n" + sent.body;
}

Received exchange(std::uint16_t port, const Sent& sent) {
  HttpClient client(port);
  client.send(text_of(sent, port));
  return client.receive();
}

}  // namespace heed
