// A client that sends exactly the bytes of a test and reads what comes back.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace heed {

struct Received {
  int status = 0;                              // 0: the connection was closed without an answer
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
};

class HttpClient {
 public:
  explicit HttpClient(std::uint16_t port, const char* address = "127.0.0.1");
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  void send(std::string_view bytes);
  Received receive();                                // one answer with a length, or to the end
  std::string receive_until(std::string_view mark);  // what has come, with the mark; or all
  bool is_closed_by_server();                        // waits for the end
  void close();

 private:
  bool receive_more();  // false: nothing more will come

  int socket_;
  std::string waiting_;
};

// The words of a request; Host is the server's own, and a body comes with its length.
struct Sent {
  std::string method = "GET";
  std::string target = "/";
  std::map<std::string, std::string> headers = {};
  std::string body = {};
};

std::string text_of(const Sent& sent, std::uint16_t port);
// On a connection of its own.
Received exchange(std::uint16_t port, const Sent& sent);

}  // namespace heed
