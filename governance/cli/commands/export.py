"""Write a skill as native manifest, MCP tool or SKILL.md; importing it again keeps the contract digest."""
