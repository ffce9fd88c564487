#include "handlersocket/protocol/token_scanner.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace hs::handlersocket {
namespace {

using Tokens = std::vector<std::string>;

Tokens scan(std::string_view line) {
  // A copy that ends where the line ends, so ASan notices if one more byte is read.
  const std::vector<char> copy(line.begin(), line.end());
  TokenScanner scanner({copy.data(), copy.size()});
  Tokens tokens;
  while (!scanner.done()) {
    const std::size_t most_left = scanner.most_left();
    EXPECT_GE(most_left, 1U);
    tokens.emplace_back(scanner.next());
    EXPECT_LT(scanner.most_left(), most_left);
  }
  EXPECT_EQ(scanner.most_left(), 0U);
  return tokens;
}

Tokens split(const std::string& line) {
  Tokens tokens;
  std::size_t begin = 0;
  for (std::size_t tab = 0; (tab = line.find('\t', begin)) != std::string::npos; begin = tab + 1) {
    tokens.push_back(line.substr(begin, tab - begin));
  }
  tokens.push_back(line.substr(begin));
  return tokens;
}

TEST(TokenScanner, CutsAtTabs) {
  EXPECT_EQ(scan(""), Tokens{""});
  EXPECT_EQ(scan("\t"), (Tokens{"", ""}));
  EXPECT_EQ(scan("a"), Tokens{"a"});
  EXPECT_EQ(scan("1\t=\t1\t42"), (Tokens{"1", "=", "1", "42"}));
  EXPECT_EQ(scan("1\t=\t1\t"), (Tokens{"1", "=", "1", ""}));
}

TEST(TokenScanner, CutsLinesOfAnyLengthAtAnyTab) {
  std::mt19937 random(2);
  for (std::size_t length = 0; length < 100; ++length) {
    for (const unsigned tabs_in : {1U, 2U, 8U, 40U}) {
      std::string line;
      while (line.size() < length) line += random() % tabs_in == 0 ? '\t' : 'x';
      EXPECT_EQ(scan(line), split(line));
    }
  }
}

TEST(TokenScanner, SeesAnEscapeNoLaterThanItsToken) {
  for (std::size_t before = 0; before < 40; ++before) {
    const std::string line = std::string(before, 'x') + "\x01\x40\ty";
    TokenScanner scanner(line);
    EXPECT_EQ(scanner.next().size(), before + 2);
    EXPECT_TRUE(scanner.saw_escape());
  }
  TokenScanner plain("no escape in these\ttokens at all\t\x02");
  while (!plain.done()) {
    (void)plain.next();
    EXPECT_FALSE(plain.saw_escape());
  }
}

}  // namespace
}  // namespace hs::handlersocket
