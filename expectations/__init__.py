"""What each table promises: Great Expectations suites as JSON, custom expectations, and acceptance by them.

Great Expectations takes seconds to import; nothing here imports it before it is used.
"""
